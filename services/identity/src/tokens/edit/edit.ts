import { type FaultDetail, validationError } from '@platform/service-kit';
import { isNarrower, readAllowList } from '../../credentials/allow-lists/ranges.js';
import type { Changes } from '../../audit/queries.js';
import { findChanges } from '../../audit/changes.js';
import type { EditTokenBody } from './schemas.js';

/* Pure rules: an edit can rename a token, and takes scopes and addresses from it. */

/** The fields of a token that an edit can change. */
export interface EditableFields {
  readonly name: string;
  readonly description: string | null;
  readonly allowList: string[];
  readonly scopes: string[];
  readonly mutesNotices: boolean;
}

/** The fields that change. */
export type TokenEdit = Partial<EditableFields> & { readonly isNarrowed?: true };

/** @throws AppError 400 that names each scope that the token lacks. */
function narrowScopes(current: readonly string[], wanted: readonly string[]): string[] {
  const faults: FaultDetail[] = wanted.flatMap((scope, index) =>
    current.includes(scope)
      ? []
      : [
          {
            field: `scopes.${index}`,
            message: `the token lacks ${JSON.stringify(scope)}: scopes are only removed`,
          },
        ],
  );
  if (faults.length > 0) throw validationError(faults);
  return current.filter((scope) => wanted.includes(scope));
}

/** @throws AppError 400 for what is no range, or lies outside of the current list. */
function narrowAllowList(current: readonly string[], wanted: readonly string[]): string[] {
  const list = readAllowList(wanted);
  if (isNarrower(list, current)) return list;
  throw validationError([
    { field: 'allowList', message: `must lie within the current list: ${current.join(', ')}` },
  ]);
}

/** @throws AppError 400 for a scope or an address that the token lacks. */
export function toEdit(
  token: EditableFields,
  { name, description, scopes: wanted, allowList, noticesMuted }: EditTokenBody,
): TokenEdit {
  const scopes = wanted && narrowScopes(token.scopes, wanted);
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(allowList && { allowList: narrowAllowList(token.allowList, allowList) }),
    ...(noticesMuted !== undefined && { mutesNotices: noticesMuted }),
    ...(scopes && scopes.length < token.scopes.length && { scopes, isNarrowed: true }),
  };
}

/** Returns the form in which the audit shows what an edit can change. */
const toAuditForm = ({ name, description, scopes, allowList, mutesNotices }: EditableFields) => ({
  name,
  description,
  scopes: scopes.join(' '),
  allowList: allowList.join(' '),
  noticesMuted: String(mutesNotices),
});
const auditFields = ['name', 'description', 'scopes', 'allowList', 'noticesMuted'] as const;

/** Returns what the audit shows of an edit. */
export const findEditChanges = (before: EditableFields, edit: TokenEdit): Changes =>
  findChanges(toAuditForm(before), toAuditForm({ ...before, ...edit }), auditFields);
