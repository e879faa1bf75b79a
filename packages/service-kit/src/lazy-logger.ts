import type { FastifyBaseLogger } from 'fastify';
import { type Bindings, type ChildLoggerOptions, type Logger, symbols } from 'pino';

const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/**
 * A child of a pino logger that is made when its first line is written: most requests write none, and a child costs a
 * microsecond that a small answer feels. Given to Fastify as its logger, because of a `childLoggerFactory` it would look
 * at every method of every request's logger.
 */
export class LazyLogger implements FastifyBaseLogger {
  readonly #parent: Logger;
  readonly #bindings: Bindings;
  readonly #options: ChildLoggerOptions | undefined;
  #written: Logger | undefined;

  declare readonly fatal: FastifyBaseLogger['fatal'];
  declare readonly error: FastifyBaseLogger['error'];
  declare readonly warn: FastifyBaseLogger['warn'];
  declare readonly info: FastifyBaseLogger['info'];
  declare readonly debug: FastifyBaseLogger['debug'];
  declare readonly trace: FastifyBaseLogger['trace'];
  declare readonly silent: FastifyBaseLogger['silent'];

  static {
    for (const level of levels)
      Object.defineProperty(LazyLogger.prototype, level, {
        value(this: LazyLogger, ...line: Parameters<FastifyBaseLogger['info']>) {
          this.#write()[level](...line);
        },
      });
  }

  constructor(parent: Logger, bindings: Bindings = {}, options?: ChildLoggerOptions) {
    this.#parent = parent;
    this.#bindings = bindings;
    this.#options = options;
  }

  #write(): Logger {
    return (this.#written ??= this.#parent.child(this.#bindings, this.#options));
  }

  get level(): string {
    return this.#options?.level ?? this.#parent.level;
  }

  /** Fastify asks for them, to put its own behind them: without these, a request would be logged with its query. */
  get [symbols.serializersSym](): unknown {
    return (this.#parent as unknown as Record<symbol, unknown>)[symbols.serializersSym];
  }

  child(bindings: Bindings, options?: ChildLoggerOptions): LazyLogger {
    return new LazyLogger(this.#write(), bindings, options);
  }
}
