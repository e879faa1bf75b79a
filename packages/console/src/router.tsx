import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { meQuery } from './api/me.ts';
import { Problem } from './api/problem.ts';
import { queryClient } from './api/queries.ts';
import { mayBeSignedIn, toSignIn } from './api/session.ts';
import { AdminsOnly, CrashPage } from './shell/fallbacks.tsx';
import { Shell } from './shell/shell.tsx';
import { places, type Screen } from './screens.ts';
import { NotFoundPage } from './ui/detail-page.tsx';
import { Loading } from './ui/query-view.tsx';

/** Goes to the sign-in, which leads back. The browser is leaving the page, so nothing is rendered any more. */
function leaveFor(path: string): Promise<void> {
  window.location.replace(toSignIn(path));
  return new Promise(() => undefined);
}

const rootRoute = createRootRoute({
  component: Shell,
  notFoundComponent: NotFoundPage,
  errorComponent: CrashPage,
  pendingComponent: Loading,
  async beforeLoad({ location }) {
    if (!mayBeSignedIn()) return leaveFor(location.href);
    try {
      await queryClient.query({ ...meQuery, staleTime: 'static' });
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 401) throw error;
      await leaveFor(location.href);
    }
  },
});

const guard = (Inner: ComponentType) =>
  function Guarded() {
    return (
      <AdminsOnly>
        <Inner />
      </AdminsOnly>
    );
  };

const loadGuarded = async (load: Screen['load']) => ({ Screen: guard((await load()).Screen) });

const routes = places
  .flatMap(({ screens }) => screens)
  .map(({ path, isForAdmins, load }) =>
    createRoute({
      getParentRoute: () => rootRoute,
      path,
      component: lazyRouteComponent(isForAdmins ? () => loadGuarded(load) : load, 'Screen'),
    }),
  );

export const router = createRouter({
  routeTree: rootRoute.addChildren(routes),
  defaultPreload: 'intent',
  // Filters are plain strings; the default would read `1` as a number.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const filled = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    const query = new URLSearchParams(filled.map(([name, value]) => [name, String(value)])).toString();
    return query === '' ? '' : `?${query}`;
  },
});
