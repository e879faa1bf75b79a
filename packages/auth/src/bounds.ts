import { Type } from 'typebox';

/**
 * What a credential is limited to, beside its scopes. A list that is absent limits nothing; an empty one allows nothing. The
 * bounds of a credential never change.
 */
export const Bounds = Type.Object({
  servers: Type.Optional(Type.Array(Type.String(), { description: 'Mounted MCP servers, by id.' })),
  tools: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Remote tools: those of the platform by name, those of a mounted server as `<server id>/<name>`.',
    }),
  ),
  connectors: Type.Optional(Type.Array(Type.String(), { description: 'Connectors, by identifier.' })),
});
export type Bounds = Type.Static<typeof Bounds>;

/** The credentials whose requests are limited; others have no bounds. */
interface Bounded {
  readonly bounds?: Bounds | undefined;
}

/**
 * Returns whether the credential may be used for the connector.
 *
 * @param connector - undefined for what concerns all of them, which no limited credential may do.
 */
export const canUseConnector = ({ bounds }: Bounded, connector: string | undefined): boolean =>
  bounds?.connectors === undefined || (connector !== undefined && bounds.connectors.includes(connector));
