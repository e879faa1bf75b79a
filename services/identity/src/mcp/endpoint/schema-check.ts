import { createValidatorCompiler, describeFaults, type FaultDetail } from '@platform/service-kit';
import type { ToolSchema } from './tool.js';

interface Validate {
  (value: unknown): boolean;
  readonly errors?: Parameters<typeof describeFaults>[0];
}

/** Returns the faults of a value, and fills in the defaults. */
export type SchemaCheck = (value: unknown) => FaultDetail[];

/** @param name - what a fault of the whole value is reported for. */
export function compileCheck(schema: ToolSchema, name: string): SchemaCheck {
  const compile = createValidatorCompiler();
  const validate = compile({ schema, httpPart: 'body', method: 'POST', url: '/mcp' }) as Validate;
  return (value) => (validate(value) ? [] : describeFaults(validate.errors ?? [], name));
}
