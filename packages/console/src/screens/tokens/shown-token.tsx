import { tokens } from '#text/tokens';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import { Copyable } from '../../ui/copy.tsx';
import { DoneButton } from '../../ui/secret-dialog.tsx';
import { createSnippets } from './snippets.ts';

const t = tokens.shown;

/** The value of a new token, which lives in this dialog only and goes with it. */
export function ShownToken({ token, onClose }: { token: { accessToken: string }; onClose: () => void }) {
  const snippets = createSnippets(`${location.origin}/mcp`, token.accessToken);
  return (
    <>
      <p className="warning">{t.warning}</p>
      <Copyable value={token.accessToken} label={t.value} />
      <h3>{t.use}</h3>
      <Tabs className="tabs">
        <TabList aria-label={t.use}>
          {snippets.map(({ name }) => (
            <Tab key={name} id={name}>
              {name}
            </Tab>
          ))}
        </TabList>
        {snippets.map(({ name, code, hint }) => (
          <TabPanel key={name} id={name}>
            <Copyable value={code} label={name} />
            <p className="hint">{hint}</p>
          </TabPanel>
        ))}
      </Tabs>
      <DoneButton onPress={onClose} />
    </>
  );
}
