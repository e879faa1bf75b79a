import { mcpServers as t } from '#text/mcp-servers';
import { identity, unwrap } from '../../api/client.ts';
import { readOnly } from '../../api/session.ts';
import { announce } from '../../ui/announcements.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Testing } from '../../ui/testing.tsx';
import { useAction } from '../../ui/use-action.ts';

/** Connects to the server: to find out what is wrong, or to read its tools now. */
export function ServerTest({ serverId }: { serverId: string }) {
  const params = { path: { id: serverId } };
  const test = useAction({
    mutationFn: () => unwrap(identity.POST('/api/v1/mcp-servers/{id}/test', { params, ...readOnly })),
  });
  const refresh = useAction({
    mutationFn: () => unwrap(identity.POST('/api/v1/mcp-servers/{id}/refresh', { params })),
    onSuccess: ({ changes }) => announce(t.refreshed(changes)),
    changes: [['mcp-servers']],
  });
  const result = test.data;
  return (
    <div className="server-test">
      <div className="actions">
        <Button isPending={test.isPending} onPress={() => test.mutate()}>
          {t.test}
        </Button>
        <Button isPending={refresh.isPending} onPress={() => refresh.mutate()}>
          {t.refresh}
        </Button>
      </div>
      <Testing isPending={test.isPending || refresh.isPending} />
      <ProblemNote error={test.error ?? refresh.error} />
      {result && (
        <p role="status">
          <Badge tone={result.isUsable ? 'good' : 'bad'}>{result.isUsable ? t.works : t.fails}</Badge>{' '}
          {result.fault !== null && t.faults[result.fault]}
          {result.code !== null && ` (${t.code(result.code)})`}
          {result.isUsable && t.worksWith(result.tools ?? 0, result.leftOut.length, result.durationMs)}
        </p>
      )}
    </div>
  );
}
