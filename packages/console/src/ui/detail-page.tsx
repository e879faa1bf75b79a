import { text } from '#text/shared';
import type { ComponentProps } from 'react';
import { Problem } from '../api/problem.ts';
import { Page } from './page.tsx';

export const NotFoundPage = () => <Page title={text.notFound.title} intro={text.notFound.advice} />;

/** A query by the ids of the address alone fails with 400 when one of them can't be an id of anything. */
const isNotFound = (error: unknown): boolean =>
  error instanceof Problem && (error.status === 404 || error.status === 400);

interface DetailPageProps extends ComponentProps<typeof Page> {
  /** Reads what the address names, and depends on nothing else. */
  readonly query: { readonly data: unknown; readonly error: unknown };
}

/** A screen of the thing that its address names, or the page that says that there is no such thing (UI-8). */
export const DetailPage = ({ query: { data, error }, ...page }: DetailPageProps) =>
  data === undefined && isNotFound(error) ? <NotFoundPage /> : <Page {...page} />;
