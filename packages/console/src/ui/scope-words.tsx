import { useScopeWords } from '../api/scopes.ts';

/** What scopes allow, in words. */
export function ScopeWords({ scopes }: { scopes: readonly string[] }) {
  const describe = useScopeWords();
  return (
    <ul className="words">
      {scopes.map((scope) => (
        <li key={scope} title={scope}>
          {describe(scope)}
        </li>
      ))}
    </ul>
  );
}
