import { guides as t } from '#text/guides';
import { text } from '#text/shared';
import { Link } from '@tanstack/react-router';
import { guides } from 'virtual:guides';
import { Page, Section } from '../../ui/page.tsx';
import { groupGuides } from './groups.ts';

/** The guides of this version of the platform. */
export function Screen() {
  return (
    <Page
      title={text.screens.guides}
      intro={t.intro}
      actions={
        <a href="/docs" className="button plain">
          {text.apiDocs}
        </a>
      }
    >
      {groupGuides(guides).map(({ group, guides: grouped }) => (
        <Section key={group} title={t.groups[group]}>
          <ul className="settings">
            {grouped.map(({ id, title }) => (
              <li key={id}>
                <Link to={`/guides/${id}`}>{title}</Link>
              </li>
            ))}
          </ul>
        </Section>
      ))}
    </Page>
  );
}
