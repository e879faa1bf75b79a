import { knowledge } from '#text/knowledge';
import { useQuery } from '@tanstack/react-query';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { findQuestion, usableToolsQuery } from './api.ts';

const AskForm = lazyPart(async () => (await import('./ask-form.tsx')).AskForm);

/** Asks a search as an agent of oneself would. @param connector - limits the tools to those that answer from it. */
export function Ask({ connector }: { connector?: string }) {
  const query = useQuery({
    ...usableToolsQuery,
    select: (tools) =>
      tools
        .filter(({ connectors }) =>
          connector === undefined ? connectors.length > 0 : connectors.includes(connector),
        )
        .flatMap((tool) => {
          const question = findQuestion(tool);
          return question === undefined ? [] : [{ name: tool.name, question }];
        }),
  });
  return (
    <Section title={knowledge.ask.title}>
      {/* Has the height of the form before that is loaded. */}
      <div className="ask-place">
        <QueryView query={query}>{(tools) => <AskForm tools={tools} />}</QueryView>
      </div>
    </Section>
  );
}
