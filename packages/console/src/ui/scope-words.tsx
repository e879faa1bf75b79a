import { useScopeWords } from '../api/scopes.ts';

/** Says in words what scopes allow. */
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

/** The same in one line, for a row of a list. */
export function ScopeLine({ scopes }: { scopes: readonly string[] }) {
  const words = scopes.map(useScopeWords());
  return <span title={words.join('\n')}>{words.join(' · ')}</span>;
}
