import { text } from '#text/shared';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { confirmation } from '../api/confirmation.ts';
import { Button } from '../ui/button.tsx';
import { MenuIcon, SearchIcon } from '../ui/icons.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { useIsPhone } from '../ui/use-is-phone.ts';
import { dismissProblem, ReportedProblem } from '../ui/reported-problem.tsx';
import { JumpButton } from './jump-button.tsx';
import { useKeys } from './keys.ts';
import { Navigation } from './navigation.tsx';
import { Offline } from './offline.tsx';
import { Person } from './person.tsx';
import { SessionEnded } from './session-ended.tsx';
import { useKeptFocus } from './use-kept-focus.ts';

const ConfirmSession = lazyPart(async () => (await import('./confirm-session.tsx')).ConfirmSession);
const Drawer = lazyPart(async () => (await import('./drawer.tsx')).Drawer);
const Shortcuts = lazyPart(async () => (await import('./shortcuts.tsx')).Shortcuts);
const Palette = lazyPart(async () => (await import('./palette/palette.tsx')).Palette);

/** Everything around a screen. */
export function Shell() {
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const lastPath = useRef(pathname);
  const [opened, setOpened] = useState<'drawer' | 'palette' | 'shortcuts'>();
  const asked = useSyncExternalStore(confirmation.subscribe, confirmation.get);
  const close = (): void => setOpened(undefined);

  const isPhone = useIsPhone();

  useKeptFocus(main);
  useKeys(setOpened);

  // Screen readers announce the new page, and the next Tab starts in it.
  useEffect(() => {
    if (lastPath.current === pathname) return;
    lastPath.current = pathname;
    setOpened(undefined);
    dismissProblem();
    main.current?.focus();
  }, [pathname]);

  return (
    <div className="shell">
      <a className="skip" href="#main">
        {text.skipToContent}
      </a>
      {isPhone ? (
        <header className="top">
          <Button kind="quiet" aria-label={text.navigation.open} onPress={() => setOpened('drawer')}>
            <MenuIcon />
          </Button>
          <Brand />
          <Button kind="quiet" aria-label={text.jump.label} onPress={() => setOpened('palette')}>
            <SearchIcon />
          </Button>
          <Person onShortcuts={() => setOpened('shortcuts')} />
        </header>
      ) : (
        <header className="side">
          <Brand />
          <JumpButton onPress={() => setOpened('palette')} />
          <Navigation />
          <Person onShortcuts={() => setOpened('shortcuts')} />
        </header>
      )}
      {asked && <ConfirmSession onSettle={asked.settle} />}
      {opened === 'drawer' && <Drawer onClose={close} />}
      {opened === 'palette' && <Palette onClose={close} />}
      {opened === 'shortcuts' && <Shortcuts onClose={close} />}
      <main id="main" ref={main} tabIndex={-1}>
        <Offline />
        <SessionEnded />
        <ReportedProblem />
        <Outlet />
      </main>
    </div>
  );
}

const Brand = () => (
  <Link to="/" className="brand">
    <span className="mark" aria-hidden="true" />
    <span>{text.product}</span>
  </Link>
);
