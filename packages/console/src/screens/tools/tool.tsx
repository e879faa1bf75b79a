import { access } from '#text/access';
import { tools as t } from '#text/tools';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { Button } from '../../ui/button.tsx';
import { getConnectorName } from '../../ui/connector-name.ts';
import { NotFoundPage } from '../../ui/detail-page.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { reveal } from '../../ui/reveal.ts';
import { type UsableTool, usableToolsQuery } from '../knowledge/api.ts';
import type { OrganisationTool } from './api.ts';
import { Effects } from './effects.tsx';
import { Callers } from './tools.tsx';

const TryTool = lazyPart(async () => (await import('./try-tool.tsx')).TryTool);
const Usage = lazyPart(async () => (await import('./usage.tsx')).Usage);
const WhoCan = lazyPart(async () => (await import('../access/who-can.tsx')).WhoCan);
const ReviewTool = lazyPart(async () => (await import('../mcp-servers/review-tool.tsx')).ReviewTool);

/** One remote tool: what it does, who may call it and does, and a form to call it as oneself. */
export function Screen() {
  const { tool: name = '' }: { tool?: string } = useParams({ strict: false });
  const isAdmin = useMe().role === 'admin';
  const [isReviewing, setReviewing] = useState(false);
  const usable = useQuery(usableToolsQuery);
  const listed = useQuery({
    queryKey: ['mcp-servers', 'all-tools', 'one', name],
    async queryFn({ signal }) {
      const params = { query: { q: name, limit: 100 } };
      const { data } = await unwrap(identity.GET('/api/v1/mcp-servers/tools/all', { params, signal }));
      return data.find((tool) => tool.name === name) ?? null;
    },
    enabled: isAdmin,
  });
  const own = usable.data?.find((tool) => tool.name === name);
  const all = listed.data ?? undefined;
  const isRead = usable.data !== undefined && (!isAdmin || listed.data !== undefined);
  if (isRead && !own && !all) return <NotFoundPage />;
  const { server, mounted } = all ?? {};
  const content = (
    <>
      <About own={own} all={all} />
      <Section title={t.try.title}>
        {own ? <TryTool key={own.name} tool={own} /> : <p className="quiet-text">{t.try.notYours}</p>}
      </Section>
      {all && (all.calls > 0 || all.scopes.length > 0) && <Usage of={{ tool: name }} />}
      {all && server && all.scopes.length > 0 && (
        <Section title={access.title}>
          <WhoCan resource={{ type: 'tool', id: name }} actions={all.scopes} />
        </Section>
      )}
    </>
  );
  return (
    <Page
      title={reveal(own?.title ?? all?.title ?? name)}
      intro={<code>{name}</code>}
      actions={server && mounted && <Button onPress={() => setReviewing(true)}>{t.review}</Button>}
    >
      <QueryView query={usable}>
        {() => (isAdmin ? <QueryView query={listed}>{() => content}</QueryView> : content)}
      </QueryView>
      {isReviewing && server && mounted && (
        <ReviewTool serverId={server.id} name={mounted.name} onClose={() => setReviewing(false)} />
      )}
    </Page>
  );
}

function About({ own, all }: { own: UsableTool | undefined; all: OrganisationTool | undefined }) {
  const description = own?.description ?? all?.description ?? null;
  const connectors = own?.connectors ?? [];
  const server = all?.server;
  const from = server ? (
    <Link key="from" to={`/organisation/mcp-servers/${server.id}`}>
      {server.name}
    </Link>
  ) : (
    (own?.server ?? t.platform)
  );
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    [
      t.facts.description,
      description === null ? (
        t.facts.noDescription
      ) : (
        <span key="says" className="lines">
          {reveal(description)}
        </span>
      ),
    ],
    [t.facts.effects, <Effects key="effects" annotations={own?.annotations ?? all?.annotations ?? {}} />],
    [t.facts.who, all ? <Callers key="who" tool={all} /> : own && t.who.with(own.scopes)],
    [t.facts.from, from],
    [t.facts.connectors, connectors.length > 0 && connectors.map((one) => getConnectorName(one)).join(', ')],
  ];
  return (
    <Section title={t.about}>
      <Facts of={facts.filter(([, value]) => Boolean(value))} />
    </Section>
  );
}
