import type { FastifyBaseLogger } from 'fastify';
import type { Bindings, ChildLoggerOptions } from 'pino';

type LevelName = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/**
 * The logger of one request, made when its first line is written: most requests write none, and a
 * pino child costs a microsecond that a small answer feels.
 */
export class RequestLogger implements FastifyBaseLogger {
  readonly #parent: FastifyBaseLogger;
  readonly #bindings: Bindings;
  #child: FastifyBaseLogger | undefined;

  constructor(parent: FastifyBaseLogger, bindings: Bindings) {
    this.#parent = parent;
    this.#bindings = bindings;
  }

  #log<N extends LevelName>(name: N): FastifyBaseLogger[N] {
    const logger = (this.#child ??= this.#parent.child(this.#bindings));
    return logger[name].bind(logger);
  }

  get level(): string {
    return this.#parent.level;
  }
  get fatal() {
    return this.#log('fatal');
  }
  get error() {
    return this.#log('error');
  }
  get warn() {
    return this.#log('warn');
  }
  get info() {
    return this.#log('info');
  }
  get debug() {
    return this.#log('debug');
  }
  get trace() {
    return this.#log('trace');
  }
  get silent() {
    return this.#log('silent');
  }

  child(bindings: Bindings, options?: ChildLoggerOptions): FastifyBaseLogger {
    return this.#parent.child({ ...this.#bindings, ...bindings }, options);
  }
}
