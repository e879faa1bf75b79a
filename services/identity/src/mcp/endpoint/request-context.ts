import type { AccountPrincipal } from '@platform/auth';
import { getBodyText, readJsonText } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ClientAddress, getClient } from '../../base/caller/client.js';
import type { ReportProgress } from './message-handler.js';
import { CLIENT_INFO_META_KEY } from './protocol-era.js';
import type { ToolContext } from './tool.js';

const traceparentForm = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}(?:-[\x21-\x7e]{1,128})?$/;
const tracestateForm = /^[\x20-\x7e]{1,512}$/;

const wellFormed = (form: RegExp, value: unknown): string | undefined =>
  typeof value === 'string' && form.test(value) ? value : undefined;

/** Returns the W3C Trace Context from the headers, or else from the message's metadata, where MCP puts it. */
function getTrace({ headers, body }: FastifyRequest) {
  const { params } = body as { readonly params?: { readonly _meta?: Record<string, unknown> | null } | null };
  const traced = headers.traceparent === undefined ? params?._meta : headers;
  return {
    traceparent: wellFormed(traceparentForm, traced?.['traceparent']),
    tracestate: wellFormed(tracestateForm, traced?.['tracestate']),
  };
}

const MAX_NAME_LENGTH = 100;
/** Control characters, of which PostgreSQL's text type can't store NUL. */
const unprintable = /\p{Cc}+/gu;

const clean = (text: string): string =>
  text.slice(0, MAX_NAME_LENGTH).toWellFormed().replaceAll(unprintable, ' ').trim();

/**
 * Returns the name and version that the client gives itself. The stateless revision carries them in each message; for
 * earlier revisions, which send them only with `initialize`, this is the `User-Agent`.
 */
function getClientName({ headers, body }: FastifyRequest): string | undefined {
  const { params } = body as { readonly params?: { readonly _meta?: Record<string, unknown> | null } | null };
  const info = params?._meta?.[CLIENT_INFO_META_KEY] as
    | { name?: unknown; version?: unknown }
    | null
    | undefined;
  const name =
    typeof info?.name === 'string'
      ? `${info.name} ${typeof info.version === 'string' ? info.version : ''}`
      : headers['user-agent'];
  return (typeof name === 'string' && clean(name)) || undefined;
}

const ignore = (): Promise<void> => Promise.resolve();

/** The context of a call, read from its request when it is needed. */
export class RequestContext implements ToolContext {
  readonly principal: AccountPrincipal;
  readonly groups: ReadonlySet<string>;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly isStreamed: boolean;
  readonly report: ToolContext['report'];
  readonly getParamsText: ToolContext['getParamsText'];
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  #controller: AbortController | undefined;

  /** @param report - undefined when the client doesn't receive progress. */
  constructor(
    { principal, groups }: Pick<ToolContext, 'principal' | 'groups'>,
    request: FastifyRequest,
    reply: FastifyReply,
    report: ReportProgress | undefined,
  ) {
    this.principal = principal;
    this.groups = groups;
    this.requestId = request.id;
    const { traceparent, tracestate } = getTrace(request);
    this.traceparent = traceparent;
    this.tracestate = tracestate;
    this.#request = request;
    this.#reply = reply;
    this.isStreamed = report !== undefined;
    this.getParamsText = () => readJsonText(getBodyText(request) ?? '', ['params']) ?? '{}';
    this.report = report ? async (progress) => report(progress) : ignore;
  }

  get protocolVersion(): string | undefined {
    const version = this.#request.headers['mcp-protocol-version'];
    return typeof version === 'string' ? version : undefined;
  }

  get client(): string | undefined {
    return getClientName(this.#request);
  }

  get address(): ClientAddress {
    return getClient(this.#request);
  }

  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal;
    const controller = (this.#controller = new AbortController());
    const { raw } = this.#reply;
    if (raw.destroyed) controller.abort();
    else raw.once('close', () => controller.abort());
    return controller.signal;
  }
}
