import { text } from '#text/shared';
import { Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { confirmation } from '../api/confirmation.ts';
import { Button } from '../ui/button.tsx';
import { MenuIcon } from '../ui/icons.tsx';
import { lazyPart } from '../ui/lazy-part.tsx';
import { Navigation } from './navigation.tsx';
import { Offline } from './offline.tsx';
import { Person } from './person.tsx';
import { SessionEnded } from './session-ended.tsx';
import { useKeptFocus } from './use-kept-focus.ts';

const ConfirmSession = lazyPart(async () => (await import('./confirm-session.tsx')).ConfirmSession);
const Drawer = lazyPart(async () => (await import('./drawer.tsx')).Drawer);

/** Everything around a screen. */
export function Shell() {
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const lastPath = useRef(pathname);
  const [isOpen, setOpen] = useState(false);
  const asked = useSyncExternalStore(confirmation.subscribe, confirmation.get);

  useKeptFocus(main);

  // Readers of screens hear the new page, and the next Tab starts in it.
  useEffect(() => {
    if (lastPath.current === pathname) return;
    lastPath.current = pathname;
    setOpen(false);
    main.current?.focus();
  }, [pathname]);

  return (
    <div className="shell">
      <a className="skip" href="#main">
        {text.skipToContent}
      </a>
      <header className="top">
        <Button kind="quiet" aria-label={text.navigation.open} onPress={() => setOpen(true)}>
          <MenuIcon />
        </Button>
        <span className="mark" aria-hidden="true" />
        <strong>{text.product}</strong>
        <Person />
      </header>
      <aside className="side">
        <Navigation />
      </aside>
      {asked && <ConfirmSession onSettle={asked.settle} />}
      {isOpen && <Drawer onClose={() => setOpen(false)} />}
      <main id="main" ref={main} tabIndex={-1}>
        <Offline />
        <SessionEnded />
        <Outlet />
      </main>
    </div>
  );
}
