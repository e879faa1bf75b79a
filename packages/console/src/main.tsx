import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { I18nProvider, RouterProvider as AriaRouterProvider } from 'react-aria-components';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/queries.ts';
import { applyTheme, look } from './look.ts';
import { router } from './router.tsx';
import './styles/index.css';
import { allowEmptyHtml } from './trusted-types.ts';
import { Announcements } from './ui/announcements.tsx';

allowEmptyHtml();
applyTheme(look.theme);
const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <I18nProvider locale="en-US">
        <AriaRouterProvider navigate={(to) => void router.navigate({ href: to })}>
          <QueryClientProvider client={queryClient}>
            <RouterProvider router={router} />
            <Announcements />
          </QueryClientProvider>
        </AriaRouterProvider>
      </I18nProvider>
    </StrictMode>,
  );
