import type { Variable, Variables } from './config.js';

function describeDefault({ fallback }: Variable<unknown>): string {
  if (!fallback) return 'required';
  const { value } = fallback;
  if (value === undefined || value instanceof Map) return 'optional';
  return Array.isArray(value) && value.length === 0 ? 'optional' : `default ${String(value)}`;
}

/**
 * What the commands `config` of the services print: a line per variable, in columns that tabs divide. It shows
 * defaults, never what the environment holds.
 */
export const describeVariables = (variables: Variables): string =>
  Object.entries(variables)
    .map(([name, variable]) => `${name}\t${describeDefault(variable)}\t${variable.mustBe}\n`)
    .join('');
