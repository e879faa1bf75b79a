import { palette as t } from '#text/palette';
import { useQuery } from '@tanstack/react-query';
import { crawl, identity, mail, unwrap } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { Problem } from '../../api/problem.ts';
import { getConnectorName, toConnectorKey } from '../../ui/connector-name.ts';
import { getConnectorIcon } from '../../ui/connector.tsx';
import { KeyIcon, LogIcon, MailIcon } from '../../ui/icons.tsx';
import { findSubjectPlace } from '../../ui/subject-place.ts';
import type { Found, Target } from './target.ts';

type Find = (id: string, signal: AbortSignal) => Promise<Target>;

const findOwnToken: Find = async (tokenId, signal) => {
  const params = { path: { tokenId } };
  const { token } = await unwrap(
    identity.GET('/api/v1/personal-access-tokens/{tokenId}', { params, signal }),
  );
  return { id: token.id, label: token.name, icon: KeyIcon, to: `/account/tokens/${token.id}` };
};

const findSubject: Find = async (id, signal) => {
  const params = { path: { id } };
  const { subject } = await unwrap(identity.GET('/api/v1/activity/subjects/{id}', { params, signal }));
  return {
    id: subject.id,
    label: subject.kind === 'activity' ? t.happened : subject.name,
    detail: t.kinds[subject.kind as keyof typeof t.kinds] ?? subject.kind,
    icon: subject.kind === 'token' ? KeyIcon : LogIcon,
    // What has no page of its own is found where it acted.
    to: findSubjectPlace(subject) ?? `/activity/audit?${new URLSearchParams({ subject: subject.id })}`,
  };
};

const findRun: Find = async (runId, signal) => {
  const params = { path: { runId } };
  const { data } = await unwrap(crawl.GET('/api/v1/crawlingManager/runs/{runId}', { params, signal }));
  const key = toConnectorKey(data);
  return {
    id: data.runId,
    label: t.runOf(getConnectorName(key)),
    icon: getConnectorIcon(key),
    to: `/crawls/connectors/${key}/runs/${data.runId}`,
  };
};

const findMail: Find = async (id, signal) => {
  await unwrap(mail.GET('/api/v1/mail/records/{id}', { params: { path: { id } }, signal }));
  return { id, label: t.mail, icon: MailIcon, to: `/mails/${id}` };
};

const isUnknown = (error: unknown): boolean => error instanceof Problem && error.status === 404;

/** Asks one after the other until one knows the id. @returns nothing when none does. */
async function findFirst(
  finds: readonly Find[],
  id: string,
  signal: AbortSignal,
): Promise<readonly Target[]> {
  for (const find of finds) {
    try {
      return [await find(id, signal)];
    } catch (error) {
      if (!isUnknown(error)) throw error;
    }
  }
  return [];
}

/** What administrators look up is most often an account or a token, and then a run. */
const ofAdministrators = [findSubject, findRun, findMail];
const ofMembers = [findOwnToken];

/** Looks up what an id stands for, whatever it is. */
export function useFoundId(id: string | undefined): Found {
  const { role } = useMe();
  const finds = role === 'admin' ? ofAdministrators : ofMembers;
  const query = useQuery({
    queryKey: ['jump', 'id', id],
    queryFn: ({ signal }) => findFirst(finds, id ?? '', signal),
    enabled: id !== undefined,
    retry: false,
  });
  return {
    groups: [{ id: 'id', label: t.id, targets: query.data ?? [] }],
    isLoading: query.isFetching,
    error: query.error ?? undefined,
  };
}
