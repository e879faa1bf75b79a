import type { Variable, Variables } from './config.js';

function describeDefault({ fallback }: Variable<unknown>): string {
  if (!fallback) return 'required';
  const { value } = fallback;
  const shown = Array.isArray(value) ? value.join(',') : value;
  const isPlain = typeof shown === 'string' || typeof shown === 'number';
  return isPlain && shown !== '' ? `default ${shown}` : 'optional';
}

/**
 * What the commands `config` of the services print: a line per variable, in columns that tabs divide. It shows
 * defaults, never what the environment holds.
 */
export const describeVariables = (variables: Variables): string =>
  Object.entries(variables)
    .map(([name, variable]) => `${name}\t${describeDefault(variable)}\t${variable.mustBe}\n`)
    .join('');
