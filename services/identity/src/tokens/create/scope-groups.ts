import { type Scope, scopeCatalogue } from '@platform/auth';
import type { GrantableScopes } from './schemas.js';

/** Returns the scopes that can be offered, by category; a category without any is left out. */
export const listScopeGroups = (
  defaults: readonly Scope[],
  isOffered: (scope: Scope) => boolean,
): GrantableScopes['scopes'] =>
  scopeCatalogue
    .map(({ category, scopes }) => ({
      category,
      scopes: scopes
        .filter(({ name }) => isOffered(name))
        .map(({ name, description, isAdminOnly }) => ({
          name,
          description,
          default: defaults.includes(name),
          adminOnly: isAdminOnly,
        })),
    }))
    .filter(({ scopes }) => scopes.length > 0);
