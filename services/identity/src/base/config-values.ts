import { canHoldScope, isScope, isTokenPrefix, type Scope } from '@platform/auth';
import { isDisplayName, list, readEmailAddress, type Variable } from '@platform/service-kit';
import { isCommonPassword } from './common-passwords.js';

export const DEFAULT_MCP_SCOPES: readonly Scope[] = [
  'kb:read',
  'semantic:write',
  'crawl:read',
  'crawl:write',
  'crawl:delete',
  'user:read',
];

/**
 * Claude, ChatGPT, Visual Studio Code, Zed, OpenCode and Goose. A host that serves what its users publish, such as
 * github.com for the CLI of Copilot, is for an organisation to add.
 */
export const DEFAULT_CLIENT_HOSTS: readonly string[] = [
  'claude.ai',
  'chatgpt.com',
  'vscode.dev',
  'insiders.vscode.dev',
  'zed.dev',
  'opencode.ai',
  'goose-docs.ai',
];

export const clientHosts: Variable<readonly string[]> = {
  mustBe: 'a comma-separated list of host names, or none',
  parse: (value) => (value.trim() === 'none' ? [] : list('').parse(value)),
};

/** Whether a token gets the scope only when it is requested by name: these scopes exceed what an agent's tools need. */
const isGrantedWhenNamed = (scope: Scope): boolean =>
  !canHoldScope(scope, 'member') || scope === 'pat:read' || scope === 'pat:write';

export const defaultScopes: Variable<readonly Scope[]> = {
  mustBe:
    'a comma-separated list of scope names from the catalogue (see the README), except the scopes that are granted only when named: pat:*, user:write, config:*, SEND_MAIL, FETCH_CONFIG',
  parse(value) {
    const names = list('').parse(value) ?? [];
    const areAllowed = names.every((name) => isScope(name) && !isGrantedWhenNamed(name));
    return names.length > 0 && areAllowed ? ([...new Set(names)] as Scope[]) : undefined;
  },
};

/** A service of the platform that may ask identity about credentials. */
export interface ServiceClient {
  readonly id: string;
  readonly secret: string;
}

export const serviceClients: Variable<readonly ServiceClient[]> = {
  mustBe: 'a comma-separated list of <client id>:<secret of 32 characters or more>',
  parse(value) {
    const clients = value.split(',').map((item) => /^\s*([\w-]{1,64}):([\w.~+/=-]{32,256})\s*$/.exec(item));
    return clients.every((match) => match !== null)
      ? clients.map((match) => ({ id: match[1] ?? '', secret: match[2] ?? '' }))
      : undefined;
  },
};

export const password: Variable<string> = {
  mustBe: 'a password of 8 to 256 characters that is not among those that are tried first',
  parse: (value) =>
    value.length >= 8 && value.length <= 256 && !isCommonPassword(value) ? value : undefined,
};

export const tokenPrefix: Variable<string> = {
  mustBe: '2 to 16 lower-case letters and digits, the first a letter, and an underscore, such as acme_',
  parse: (value) => (isTokenPrefix(value) ? value : undefined),
};

export const emailAddress: Variable<string> = {
  mustBe: 'an e-mail address',
  parse: (value) => (readEmailAddress(value) === undefined ? undefined : value),
};

export const organisationName: Variable<string> = {
  mustBe: 'a name of 1 to 200 characters, with a visible one, without control and bidirectional ones',
  parse: (value) => (isOrganisationName(value) ? value : undefined),
};

export const isOrganisationName = (value: string): boolean => value.length <= 200 && isDisplayName(value);

export const isEmailAddress = (value: string): boolean => emailAddress.parse(value) !== undefined;
