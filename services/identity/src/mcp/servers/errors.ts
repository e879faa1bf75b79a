import { AppError, conflict, notFound, validationError } from '@platform/service-kit';
import type { UpstreamFault } from '../../base/egress/faults.js';

export const serverNotFound = (): AppError => notFound('MCP server not found');
export const toolNotFound = (): AppError => notFound('Tool not found');
export const nameTaken = (): AppError => conflict('NAME_TAKEN', 'There is an MCP server with this name');
export const tooManyServers = (max: number): AppError =>
  conflict('TOO_MANY_SERVERS', `An organisation can have ${max} MCP servers`);
export const tooManyListings = (): AppError =>
  new AppError({
    status: 429,
    code: 'TOO_MANY_LISTINGS',
    message: 'Too many MCP servers are asked for their tools at the same time. Try again in a few seconds',
  });
export const definitionChanged = (name: string): AppError =>
  conflict(
    'DEFINITION_CHANGED',
    `The definition of ${name} is no longer the one with this hash: look at it again`,
  );
export const secretRequired = (): AppError =>
  validationError([
    { field: 'credential', message: 'must be given again when the URL leads to another origin' },
  ]);
export const refreshFailed = (fault: UpstreamFault): AppError =>
  new AppError({
    status: 502,
    code: 'REFRESH_FAILED',
    message: `The MCP server can't be used: ${fault.message}. Its tools stay as they are`,
    cause: fault,
  });
