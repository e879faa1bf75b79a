import { hash } from 'node:crypto';

/**
 * The name of a server is the first part of its tools' names: `<server>__<tool>`. It contains no `__` and ends in no
 * underscore, so that two servers never lead to the same name.
 */
export const SERVER_NAME_PATTERN = '^(?!.*__)[a-z0-9](?:[a-z0-9_-]{0,30}[a-z0-9-])?$';

/** The form of tool names that the APIs of model providers accept, shorter than that of MCP. */
const clientForm = /^[\w-]+$/;
const MAX_CLIENT_NAME = 64;
/** A tool that has such a name by itself is renamed too, so that it never meets the mounted name of another one. */
const renamedForm = /_x[0-9a-f]{8}$/;

/** Returns the end of the mounted name of a tool that is renamed. Tools whose suffixes differ never meet at one name. */
export const toNameSuffix = (toolName: string): string => `_x${hash('sha256', toolName, 'hex').slice(0, 8)}`;

/**
 * Returns the name under which clients list and call a tool: `<server>__<tool>`. Where clients reject that, the tool's part is
 * what they accept of it and a suffix. It depends on both names alone, and not on which other tools there are, so that it stays
 * the same.
 */
export function toMountedName(serverName: string, toolName: string): string {
  const prefix = `${serverName}__`;
  const name = `${prefix}${toolName}`;
  if (name.length <= MAX_CLIENT_NAME && clientForm.test(name) && !renamedForm.test(name)) return name;
  const suffix = toNameSuffix(toolName);
  const readable = toolName.replaceAll(/[^\w-]/g, '_');
  return `${prefix}${readable.slice(0, MAX_CLIENT_NAME - prefix.length - suffix.length)}${suffix}`;
}
