/**
 * The name of a server is the first part of its tools' names: `<server>__<tool>`. It contains no `__` and ends in no
 * underscore, so that two servers never lead to the same name.
 */
export const SERVER_NAME_PATTERN = '^(?!.*__)[a-z0-9](?:[a-z0-9_-]{0,30}[a-z0-9-])?$';

/** The pattern of tool names that the APIs of model providers accept. */
const toolNameForm = /^[\w-]{1,64}$/;

/** @returns undefined when the tool's own name makes a name that is too long or has characters that clients reject. */
export function toMountedName(serverName: string, toolName: string): string | undefined {
  const name = `${serverName}__${toolName}`;
  return toolNameForm.test(name) ? name : undefined;
}
