import type { FastifyBaseLogger } from 'fastify';
import type { Bindings, ChildLoggerOptions } from 'pino';

const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/**
 * The logger of one request, made when its first line is written: most requests write none, and a
 * pino child costs a microsecond that a small answer feels.
 */
export class RequestLogger implements FastifyBaseLogger {
  readonly #parent: FastifyBaseLogger;
  readonly #bindings: Bindings;
  #child: FastifyBaseLogger | undefined;

  declare readonly fatal: FastifyBaseLogger['fatal'];
  declare readonly error: FastifyBaseLogger['error'];
  declare readonly warn: FastifyBaseLogger['warn'];
  declare readonly info: FastifyBaseLogger['info'];
  declare readonly debug: FastifyBaseLogger['debug'];
  declare readonly trace: FastifyBaseLogger['trace'];
  declare readonly silent: FastifyBaseLogger['silent'];

  static {
    // Methods of the prototype: Fastify looks at each of every request's logger, and a getter would make the child.
    for (const level of levels)
      Object.defineProperty(RequestLogger.prototype, level, {
        value(this: RequestLogger, ...line: Parameters<FastifyBaseLogger['info']>) {
          this.#written()[level](...line);
        },
      });
  }

  constructor(parent: FastifyBaseLogger, bindings: Bindings) {
    this.#parent = parent;
    this.#bindings = bindings;
  }

  #written(): FastifyBaseLogger {
    return (this.#child ??= this.#parent.child(this.#bindings));
  }

  get level(): string {
    return this.#parent.level;
  }

  child(bindings: Bindings, options?: ChildLoggerOptions): FastifyBaseLogger {
    return this.#parent.child({ ...this.#bindings, ...bindings }, options);
  }
}
