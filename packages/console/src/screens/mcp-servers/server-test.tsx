import { mcpServers as t } from '#text/mcp-servers';
import { identity, unwrap } from '../../api/client.ts';
import { readOnly } from '../../api/session.ts';
import { announce } from '../../ui/announcements.tsx';
import { Button } from '../../ui/button.tsx';
import { TestSection } from '../../ui/testing.tsx';
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
    <TestSection
      actions={
        <>
          <Button isPending={test.isPending} onPress={() => test.mutate()}>
            {t.test}
          </Button>
          <Button isPending={refresh.isPending} onPress={() => refresh.mutate()}>
            {t.refresh}
          </Button>
        </>
      }
      isPending={test.isPending || refresh.isPending}
      error={test.error ?? refresh.error}
      result={
        result && {
          isGood: result.isUsable,
          label: result.isUsable ? t.works : t.fails,
          details: (
            <>
              {result.fault !== null && t.faults[result.fault]}
              {result.code !== null && ` (${t.code(result.code)})`}
              {result.isUsable && t.worksWith(result.tools ?? 0, result.leftOut.length, result.durationMs)}
            </>
          ),
        }
      }
    />
  );
}
