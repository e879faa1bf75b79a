/** The scopes that a mounted tool can be mapped to: `kb:read` for tools that read, `semantic:write` for the others. */
export const knowledgeScopes = ['kb:read', 'semantic:write'] as const;
export type KnowledgeScope = (typeof knowledgeScopes)[number];

/** Maps all tools of a server whose name matches. In the pattern, `*` stands for any characters. */
export interface ScopeRule {
  readonly pattern: string;
  readonly scope: KnowledgeScope;
}

/** The mapping of one tool, which wins over the rules; `none` hides it, null leaves it to the rules. */
export type ToolScope = KnowledgeScope | 'none' | null;

/** Matches without a regular expression, in time linear in the name for each part of the pattern. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first)) return false;
  let position = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, position);
    if (found === -1) return false;
    position = found + part.length;
  }
  return name.length - last.length >= position && name.endsWith(last);
}

/** Returns the scope that a tool needs; undefined hides it from everyone. The first rule that matches decides. */
export function getEffectiveScope(
  toolName: string,
  scope: ToolScope,
  rules: readonly ScopeRule[],
): KnowledgeScope | undefined {
  if (scope !== null) return scope === 'none' ? undefined : scope;
  return rules.find(({ pattern }) => matchesPattern(pattern, toolName))?.scope;
}
