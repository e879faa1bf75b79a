import { glossary } from '#text/glossary';
import { text } from '#text/shared';
import { Link, useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { useMe } from '../api/me.ts';
import { findView, listViews } from '../screens.ts';
import { isolate } from '../text/isolate.ts';
import { Button } from './button.tsx';

interface PageProps {
  readonly title: string;
  readonly intro?: ReactNode;
  readonly actions?: ReactNode;
  /** The pages between the view and this one, such as the connector of a run. */
  readonly trail?: readonly (readonly [path: string, label: string])[];
  readonly children?: ReactNode;
}

export function Page({ title, intro, actions, trail, children }: PageProps) {
  useEffect(() => {
    document.title = `${isolate(title)} · ${text.product}`;
  }, [title]);
  return (
    <>
      <Trail between={trail ?? []} />
      <header className="page-header">
        <div>
          <h1>{title}</h1>
          {intro !== undefined && (
            <p>
              {intro} <GuideLink />
            </p>
          )}
        </div>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      <Views />
      {children}
    </>
  );
}

/** Leads from a view to the guide about it. */
function GuideLink() {
  const { pathname } = useLocation();
  const { path, guide } = findView(pathname)?.view ?? {};
  return path === pathname && guide !== undefined ? <Link to={`/guides/${guide}`}>{text.guide}</Link> : null;
}

/** The way from the view down to a page below it. */
function Trail({ between }: { between: NonNullable<PageProps['trail']> }) {
  const { pathname } = useLocation();
  const found = findView(pathname);
  if (!found || found.view.path === pathname || found.view.path === '/') return null;
  const { place, view } = found;
  const steps = [[view.path, view.label ?? place.label] as const, ...between];
  return (
    <nav className="trail" aria-label={text.navigation.trail}>
      {steps.map(([path, label], index) => (
        <span key={path}>
          {index > 0 && '/ '}
          <Link to={path}>{label}</Link>
        </span>
      ))}
    </nav>
  );
}

/** The views beside this one, where its place has several. */
function Views() {
  const { pathname } = useLocation();
  const { role } = useMe();
  const found = findView(pathname);
  const views = found?.view.path === pathname ? listViews(found.place, role) : [];
  if (views.length < 2) return null;
  return (
    <nav className="views" aria-label={text.navigation.views}>
      {views.map(({ path, label }) => (
        <Link key={path} to={path} activeOptions={{ exact: true, includeSearch: false }}>
          {label}
        </Link>
      ))}
    </nav>
  );
}

/** The words of an empty list: what would be here, and what to do. */
export const Empty = ({ title, children, action }: EmptyProps) => (
  <div className="empty">
    <strong>{title}</strong>
    {children !== undefined && <p>{children}</p>}
    {action}
  </div>
);

interface EmptyProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** The button that does what the words advise. */
  readonly action?: ReactNode;
}

interface SectionProps {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export const Section = ({ title, actions, children }: SectionProps) => (
  <section className="section">
    <header>
      <h2>{title}</h2>
      {actions !== undefined && <div className="actions">{actions}</div>}
    </header>
    {children}
  </section>
);

/** A word, with a button that says what it means where that isn't plain. */
function Term({ word }: { word: string }) {
  const [isOpen, setIsOpen] = useState(false);
  if (!Object.hasOwn(glossary, word)) return word;
  return (
    <>
      {word}{' '}
      <Button
        kind="link"
        aria-label={text.meaning(word)}
        aria-expanded={isOpen}
        onPress={() => setIsOpen(!isOpen)}
      >
        ?
      </Button>
      {isOpen && <small className="meaning">{glossary[word as keyof typeof glossary]}</small>}
    </>
  );
}

/** Pairs of a name and a value, a row each. */
export const Facts = ({ of }: { of: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className="facts">
    {of.map(([name, value]) => (
      <div key={name}>
        <dt>
          <Term word={name} />
        </dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

/** Numbers with their names, side by side. */
export const Figures = ({
  of,
  className = '',
}: {
  of: readonly (readonly [name: string, value: ReactNode])[];
  className?: string;
}) => (
  <dl className={`figures ${className}`.trim()}>
    {of.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

/** A list of settings, a row each. */
export const Settings = ({ children }: { children: ReactNode }) => <ul className="settings">{children}</ul>;

interface DangerousAct {
  readonly label: string;
  readonly hint: string;
  run(): void;
}

/** The actions that end or remove the thing of a page, at the end of it. */
export const DangerZone = ({ acts }: { acts: readonly DangerousAct[] }) => (
  <Section title={text.danger}>
    <Settings>
      {acts.map(({ label, hint, run }) => (
        <li key={label}>
          <div>
            <p>{hint}</p>
          </div>
          <Button kind="warn" onPress={run}>
            {label}
          </Button>
        </li>
      ))}
    </Settings>
  </Section>
);

interface SettingProps {
  readonly title: string;
  readonly children: ReactNode;
  /** The button that changes it. */
  readonly action: ReactNode;
}

export const Setting = ({ title, children, action }: SettingProps) => (
  <li>
    <div>
      <h3>{title}</h3>
      <p>{children}</p>
    </div>
    {action}
  </li>
);
