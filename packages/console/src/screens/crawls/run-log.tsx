import { run as runText } from '#text/run';
import { LOCALE } from '#text/shared';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Section } from '../../ui/page.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { SearchInput } from '../../ui/search-input.tsx';
import { Time } from '../../ui/time.tsx';
import type { RunDetail } from './api.ts';

const t = runText.logView;
const number = new Intl.NumberFormat(LOCALE);
/** So near to the end, a reader wants to see what comes next. */
const END_PX = 24;

/** What a worker has logged, the newest last. It follows a run in progress while its end is in sight. */
export function RunLog({ run }: { run: RunDetail }) {
  const [typed, setTyped] = useState('');
  const sought = typed.trim().toLowerCase();
  const lines = run.log.filter(({ message }) => message.toLowerCase().includes(sought));
  const isLive = run.finishedAt === null;
  const list = useFollowing(isLive && sought === '', run.log.length);
  const save = (): void =>
    saveFile(`run-${run.runId}.log`, run.log.map(({ at, message }) => `${at} ${message}\n`).join(''));
  return (
    <Section title={runText.log} actions={<Button onPress={save}>{t.download}</Button>}>
      <search className="filters">
        <SearchInput label={t.search} value={typed} onChange={setTyped} />
        <span className="total" role="status">
          {sought === ''
            ? t.lines(number.format(lines.length), lines.length === 1)
            : t.found(number.format(lines.length), number.format(run.log.length))}
          {isLive && ` · ${t.live}`}
        </span>
      </search>
      {/* Reached by keyboard, because it scrolls. */}
      <ol className="log" ref={list} tabIndex={0} aria-label={runText.log}>
        {lines.map(({ at, message }, index) => (
          // Two lines may be the same.
          <li key={index}>
            <Time at={at} as="full" />
            <span>{message}</span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** Keeps the end of a list in sight, unless its reader has scrolled up. */
function useFollowing(isFollowing: boolean, count: number) {
  const list = useRef<HTMLOListElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    const note = (): void => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < END_PX;
    };
    element.addEventListener('scroll', note, { passive: true });
    return () => element.removeEventListener('scroll', note);
  }, []);
  useEffect(() => {
    const element = list.current;
    if (element && isFollowing && isAtEnd.current) element.scrollTop = element.scrollHeight;
  }, [isFollowing, count]);
  return list;
}
