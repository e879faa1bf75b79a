import { createValidatorCompiler } from '@platform/service-kit';
import type { Answer, Operation } from './operation.js';

/**
 * Leaves out which texts a response may have: during an upgrade, a newer service may send others. What the kinds of objects
 * are distinguished by is a `const`, which stays.
 */
function withoutEnums(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEnums);
  if (typeof value !== 'object' || value === null) return value;
  const { enum: values, ...rest } = value as { readonly enum?: unknown };
  const kept = Array.isArray(values) ? rest : value;
  return Object.fromEntries(Object.entries(kept).map(([key, item]) => [key, withoutEnums(item)]));
}

type Check = (value: unknown) => boolean;

/** Checks whether responses are successes of their operations. The schemas are compiled when they are first needed. */
export function createAnswerChecks() {
  const compile = createValidatorCompiler();
  const checks = new Map<Answer, Check>();

  function getCheck(answer: Answer): Check {
    const known = checks.get(answer);
    if (known) return known;
    const { schema } = answer;
    const check = schema
      ? (compile({ schema: withoutEnums(schema), httpPart: 'body', method: '', url: '' }) as Check)
      : (value: unknown) => value === undefined;
    checks.set(answer, check);
    return check;
  }

  return ({ answers }: Operation, status: number, body: unknown): boolean => {
    const answer = answers.find((one) => one.status === status);
    return answer !== undefined && getCheck(answer)(body);
  };
}
