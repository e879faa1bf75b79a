import { text } from '#text/shared';
import { type ReactNode, useEffect } from 'react';
import { isolate } from '../text/isolate.ts';

interface PageProps {
  readonly title: string;
  readonly intro?: ReactNode;
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

export function Page({ title, intro, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${isolate(title)} · ${text.product}`;
  }, [title]);
  return (
    <>
      <header className="page-header">
        <div>
          <h1>{title}</h1>
          {intro !== undefined && <p>{intro}</p>}
        </div>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** The words of an empty list: what would be here, and what to do. */
export const Empty = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className="empty">
    <strong>{title}</strong>
    {children !== undefined && <p>{children}</p>}
  </div>
);

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

const MAX_COLUMN_LENGTH = 120;

/** Pairs of a name and a value; a long value takes the whole width. */
export const Facts = ({ of }: { of: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className="facts">
    {of.map(([name, value]) => (
      <div
        key={name}
        className={typeof value === 'string' && value.length > MAX_COLUMN_LENGTH ? 'whole' : ''}
      >
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

/** A list of settings, a row each. */
export const Settings = ({ children }: { children: ReactNode }) => <ul className="settings">{children}</ul>;

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
