import type { IdentitySchemas } from '@platform/clients/types';

type Rule = IdentitySchemas['schemas']['McpServer']['rules'][number];

const LINE = /^(\S+)\s+(kb:read|semantic:write)$/;
const toLines = (typed: string): string[] =>
  typed
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Returns the first line that is not a pattern and a scope. */
export const findInvalidLine = (typed: string): string | undefined =>
  toLines(typed).find((line) => !LINE.test(line));

/** Reads rules, one a line. Lines that are none are left out. */
export const readRules = (typed: string): Rule[] =>
  toLines(typed).flatMap((line) => {
    const [, pattern = '', scope] = LINE.exec(line) ?? [];
    return scope === undefined ? [] : [{ pattern, scope: scope as Rule['scope'] }];
  });

export const writeRules = (rules: readonly Rule[]): string =>
  rules.map(({ pattern, scope }) => `${pattern} ${scope}`).join('\n');
