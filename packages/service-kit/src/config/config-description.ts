import type { Variable, Variables } from './config.js';

function describeDefault({ fallback }: Variable<unknown>): string {
  if (!fallback) return 'required';
  const { value } = fallback;
  const shown = Array.isArray(value) ? value.join(',') : value;
  const isPlain = typeof shown === 'string' || typeof shown === 'number';
  return isPlain && shown !== '' ? `default ${shown}` : 'optional';
}

/**
 * Describes the variables for the `config` command of the services: one line per variable, in columns separated by tabs.
 * It shows defaults, never values of the environment.
 */
export const describeVariables = (variables: Variables): string =>
  Object.entries(variables)
    .map(([name, variable]) => `${name}\t${describeDefault(variable)}\t${variable.mustBe}\n`)
    .join('');
