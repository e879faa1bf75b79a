import { text } from '#text/shared';
import { useScopeWords } from '../api/scopes.ts';

interface ScopesProps {
  readonly scopes: readonly string[];
  /** Whether the person has granted them: what does nothing in their hands is marked. */
  readonly isOwn?: boolean;
}

/** Says in words what scopes allow. */
export function ScopeWords({ scopes, isOwn = false }: ScopesProps) {
  const { describe, isIdle } = useScopeWords();
  return (
    <ul className="words">
      {scopes.map((scope) => (
        <li key={scope} title={scope}>
          {describe(scope)}
          {isOwn && isIdle(scope) && <small>{text.idleScope}</small>}
        </li>
      ))}
    </ul>
  );
}

/** The same in one line, for a row of a list. What does nothing is left out of it, and named in the tooltip. */
export function ScopeLine({ scopes, isOwn = false }: ScopesProps) {
  const { describe, isIdle } = useScopeWords();
  const idle = isOwn ? scopes.filter(isIdle) : [];
  const words = scopes.filter((scope) => !idle.includes(scope)).map(describe);
  const idleWords = idle.map((scope) => `${describe(scope)}: ${text.idleScope}`);
  return <span title={[...words, ...idleWords].join('\n')}>{words.join(' · ') || text.none}</span>;
}
