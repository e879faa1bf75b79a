import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { meQuery } from './api/me.ts';
import { Problem } from './api/problem.ts';
import { queryClient } from './api/queries.ts';
import { mayBeSignedIn, toSignIn } from './api/session.ts';
import { AdminsOnly, CrashPage, ScreenCrash } from './shell/fallbacks.tsx';
import { Shell } from './shell/shell.tsx';
import { places } from './screens.ts';
import { NotFoundPage } from './ui/detail-page.tsx';
import { lazyPart } from './ui/lazy-part.tsx';
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
  async beforeLoad({ location, preload }) {
    // Nobody is sent away by a link that is only near the pointer, or from what is typed on a page: that says itself that
    // the session has ended.
    if (preload || queryClient.getQueryData(meQuery.queryKey)) return;
    if (!mayBeSignedIn()) await leaveFor(location.href);
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

const routes = places
  .flatMap(({ screens }) => screens)
  .map(({ path, isForAdmins, load }) =>
    createRoute({
      getParentRoute: () => rootRoute,
      path,
      component: lazyPart(async () => {
        const { Screen } = await load();
        return isForAdmins ? guard(Screen) : Screen;
      }),
    }),
  );

export const router = createRouter({
  routeTree: rootRoute.addChildren(routes),
  defaultPreload: 'intent',
  defaultErrorComponent: ScreenCrash,
  // Another connector is another page: nothing of the one before may stay in it, such as its rows or an open dialog.
  defaultRemountDeps: ({ params }) => params,
  // Filters are plain strings; the default would read `1` as a number.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const filled = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    const query = new URLSearchParams(filled.map(([name, value]) => [name, String(value)])).toString();
    return query === '' ? '' : `?${query}`;
  },
});
