import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { AttemptJournal, StepReport } from '../attempts/journal.js';

const toText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The person answered so: the page of the consent records it. */
const ANSWERS = new Set(['access_denied']);

/** Records what the provider does in attempts to connect: registrations, refused requests, and exchanges of codes. */
export function recordProviderSteps(provider: Provider, { record }: Pick<AttemptJournal, 'record'>): void {
  function recordStep(ctx: KoaContextWithOIDC, report: Omit<StepReport, 'address' | 'userAgent'>): void {
    record({ ...report, address: ctx.ip, userAgent: ctx.get('user-agent') });
  }
  const getClientId = ({ oidc }: KoaContextWithOIDC): string | undefined =>
    oidc.entities.Client?.clientId ?? toText(oidc.params?.['client_id']);
  const isExchange = ({ oidc }: KoaContextWithOIDC): boolean =>
    oidc.params?.['grant_type'] === 'authorization_code';

  provider.on('registration_create.success', (ctx, { clientId }) => {
    recordStep(ctx, { step: 'registration', clientId });
  });
  provider.on('registration_create.error', (ctx, { error }) => {
    recordStep(ctx, { step: 'registration', fault: error });
  });
  provider.on('authorization.error', (ctx, { error }) => {
    if (!ANSWERS.has(error)) recordStep(ctx, { step: 'authorize', clientId: getClientId(ctx), fault: error });
  });
  provider.on('grant.success', (ctx) => {
    if (isExchange(ctx))
      recordStep(ctx, {
        step: 'token',
        clientId: getClientId(ctx),
        userId: ctx.oidc.entities.Account?.accountId,
      });
  });
  provider.on('grant.error', (ctx, { error }) => {
    if (isExchange(ctx))
      recordStep(ctx, {
        step: 'token',
        clientId: getClientId(ctx),
        fault: error,
        userId: ctx.oidc.entities.Account?.accountId,
      });
  });
}
