import { ServiceFault } from '@platform/clients';

/** Something that the caller has to do in a browser before a tool can be called. Nothing was done. */
export class LinkRequired extends ServiceFault {
  /** What has to be done, without the address. */
  readonly reason: string;
  readonly url: string;

  constructor({
    service,
    reason,
    url,
    cause,
  }: {
    readonly service: string;
    readonly reason: string;
    readonly url: string;
    readonly cause?: unknown;
  }) {
    super({ kind: 'refused', service, message: `${reason} Open ${url}, then try again.`, cause });
    this.reason = reason;
    this.url = url;
  }
}
