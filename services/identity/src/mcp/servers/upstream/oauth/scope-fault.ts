import { UpstreamFault } from '../../../../base/egress/faults.js';

/** A server refuses a call for want of scopes, which another sign-in can bring. */
export class ScopeFault extends UpstreamFault {
  constructor(
    /** As the server names them; never shown to callers. */
    readonly requiredScope: string | undefined,
  ) {
    super('unauthorized', 403);
  }
}
