/** A request that failed, with what the platform said about it. */
export class Problem extends Error {
  override readonly name = 'Problem';
  /** 0 when there was no response. */
  readonly status: number;
  readonly code: string;
  readonly details: readonly { readonly field: string; readonly message: string }[];
  /** Whether the request only read something, so that it cannot have changed anything. */
  readonly isRead: boolean;

  constructor(
    status: number,
    code: string,
    message: string,
    { details = [], isRead = false }: Partial<Pick<Problem, 'details' | 'isRead'>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.isRead = isRead;
  }
}

interface ErrorBody {
  readonly message?: string;
  readonly error?: { readonly code?: string; readonly message?: string; readonly details?: unknown };
}

const isDetail = (value: unknown): value is Problem['details'][number] =>
  typeof value === 'object' && value !== null && 'field' in value && 'message' in value;

/** Reads a fault such as `scheduleConfig.timezone: is not an IANA time zone`. */
function readFault(text: string): Problem['details'][number] {
  const [, field = '', message = text] = /^([\w.]+): (.+)$/s.exec(text) ?? [];
  return { field, message };
}

/** identity and mail send a list of faults, crawl writes them into one text. */
function readDetails(value: unknown): Problem['details'] {
  if (typeof value === 'string') return value.split(/; (?=[\w.]+: )/).map(readFault);
  return Array.isArray(value) ? value.filter(isDetail) : [];
}

/** Reads both error formats of the platform; anything else keeps its status only. */
export async function readProblem(response: Response, isRead = false): Promise<Problem> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody;
  const details = readDetails(body.error?.details);
  const message = body.error?.message ?? body.message ?? response.statusText;
  return new Problem(response.status, body.error?.code ?? 'UNKNOWN', message, { details, isRead });
}
