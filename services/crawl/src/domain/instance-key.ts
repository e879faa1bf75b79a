import type { Connector } from '@platform/events';

/** Names one of an organisation's connectors, of which it may have several of the same type. */
export interface InstanceKey {
  readonly orgId: string;
  readonly connector: Connector;
  /** A slug; `default` for the paths that name none. */
  readonly instance: string;
}

export interface RunKey extends InstanceKey {
  readonly runId: string;
}

export interface HookKey extends InstanceKey {
  readonly hookId: string;
}
