import { AppError, type Clock, type SecretBox } from '@platform/service-kit';
import type pg from 'pg';
import type { Brands } from '../brand/brand.js';
import type { Deliver } from '../delivery/deliver.js';
import type { Outcome } from '../delivery/outcome.js';
import { toAttemptEnd, toUncounted } from '../queue/attempt-end.js';
import type { AttemptMail } from '../queue/dispatcher.job.js';
import { type ClaimedMail, priorities } from '../queue/mail.js';
import { findAttachmentPiece } from '../queue/queue.sql.js';
import { readSmtpConfiguration, type SmtpConfiguration } from '../smtp-configuration/configuration.js';
import type { SmtpConfigurations } from '../smtp-configuration/service.js';
import { toDeliveredMessage, toMessageId } from './message.js';
import { type RenderedEmail, renderEmail } from './rendered-email.js';
import { toPoolKey } from './send-request.js';
import { openAttachment, openRequest, type StoredRequest } from './stored-request.js';

/** The pause while the configuration manager is unavailable. */
const UNAVAILABLE_MS = 30_000;

const fail = (code: string): Outcome => ({ state: 'failed', problem: { code }, recipients: [] });

/** Creates the function that makes one attempt to send a queued mail. */
export function createAttemptMail(deps: {
  readonly pool: pg.Pool;
  readonly configurations: SmtpConfigurations;
  readonly brands: Pick<Brands, 'get'>;
  readonly deliver: Deliver;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly onOutcome: (state: Outcome['state']) => void;
}): AttemptMail {
  const { pool, configurations, brands, deliver, box, clock, onOutcome } = deps;

  async function findConfiguration(
    { orgId }: ClaimedMail,
    { smtp }: StoredRequest,
  ): Promise<SmtpConfiguration | 'unavailable' | undefined> {
    if (smtp) return readSmtpConfiguration(smtp);
    return configurations.get(orgId).catch((error: unknown) => {
      if (error instanceof AppError) return error.statusCode === 503 ? 'unavailable' : undefined;
      throw error;
    });
  }

  /** Renders the mail again, with the files that are stored apart. */
  async function render(
    { id, orgId }: ClaimedMail,
    { body, files = [] }: StoredRequest,
    { fromEmail }: SmtpConfiguration,
  ): Promise<RenderedEmail | undefined> {
    const read = await renderEmail(body, fromEmail, await brands.get(orgId));
    if ('faults' in read) return undefined;
    const stored = files.map((file, index) => ({
      ...file,
      read: () =>
        openAttachment(box, id, index, file.bytes, (piece) => findAttachmentPiece(pool, id, index, piece)),
    }));
    return { ...read.email, files: stored };
  }

  /** @returns undefined while the configuration manager is unavailable. */
  async function attempt(
    mail: ClaimedMail,
    options: Parameters<AttemptMail>[1],
  ): Promise<{ readonly outcome: Outcome; readonly addresses: readonly string[] } | undefined> {
    const request = mail.sealedRequest === null ? undefined : openRequest(box, mail.id, mail.sealedRequest);
    // Another replica, or this one after a restart, may have the key that the request was sealed with.
    if (!request) return { outcome: fail('EREQUEST'), addresses: [] };
    const configuration = await findConfiguration(mail, request);
    if (configuration === 'unavailable') return undefined;
    if (!configuration) return { outcome: fail('ECONFIG'), addresses: [] };
    const email = await render(mail, request, configuration);
    if (!email) return { outcome: fail('EINVALID'), addresses: [] };
    const erased = new Set(mail.erasedAddresses);
    const isKept = (address: string): boolean => !erased.has(address.toLowerCase());
    const [to, cc] = [email.to.filter(isKept), email.cc.filter(isKept)];
    const leftOut = new Set([...mail.finishedAddresses, ...mail.suppressedAddresses]);
    const addresses = [...to, ...cc].filter((address) => !leftOut.has(address.toLowerCase()));
    if (addresses.length === 0)
      return { outcome: fail(leftOut.size > 0 ? 'ESUPPRESSED' : 'ENORECIPIENT'), addresses };
    const outcome = await deliver({
      orgId: mail.orgId,
      poolKey: toPoolKey(mail.orgId, request.smtp),
      isCode: mail.priority === priorities.code,
      configuration,
      recipients: addresses,
      ...toDeliveredMessage({ ...email, to, cc }, toMessageId(mail.id, mail.from), mail.createdAt),
      ...options,
    });
    return { outcome, addresses };
  }

  return async (mail, options) => {
    const attempted = await attempt(mail, options);
    const at = clock();
    // Nobody knows whether there is a configuration, so this was no attempt.
    if (!attempted) return toUncounted(mail, at + UNAVAILABLE_MS, { code: 'ECONFIG' });
    const { outcome, addresses } = attempted;
    // The shutdown interrupted the attempt before the message was begun.
    if (outcome.state === 'failed' && options.signal.aborted) return toUncounted(mail, at);
    // What was refused in an earlier attempt is suppressed since then, and stays refused in this mail.
    const suppressedAddresses = mail.suppressedAddresses.filter(
      (address) => !mail.finishedAddresses.includes(address),
    );
    const end = toAttemptEnd(
      { ...mail, suppressedAddresses, canQueue: true, callerWaits: false, addresses },
      outcome,
      at,
    );
    if (end.state !== 'queued') onOutcome(end.state);
    return end;
  };
}
