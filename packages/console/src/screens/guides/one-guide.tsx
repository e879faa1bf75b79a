import { guides as t } from '#text/guides';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { Copyable } from '../../ui/copy.tsx';
import { NotFoundPage } from '../../ui/detail-page.tsx';
import { Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import type { Block, Guide, Inline } from './guide.ts';

const files = import.meta.glob<{ guide: Guide }>('../../../../../docs/connect/*.md');
const findFile = (id: string) => files[`../../../../../docs/connect/${id}.md`];

/** One guide, with the parts that its addresses name. */
export function Screen() {
  const { guide: id = '' }: { guide?: string } = useParams({ strict: false });
  const load = findFile(id);
  const query = useQuery({
    queryKey: ['guides', id],
    queryFn: async () => (await load?.())?.guide,
    enabled: load !== undefined,
    staleTime: Infinity,
  });
  const { hash } = useLocation();
  const isShown = query.data !== undefined;
  useEffect(() => {
    if (isShown && hash !== '') document.getElementById(hash)?.scrollIntoView();
  }, [isShown, hash]);
  if (load === undefined) return <NotFoundPage />;
  return (
    <Page title={query.data?.title ?? text.screens.guides}>
      <QueryView query={query}>{(guide) => guide && <Text guide={guide} />}</QueryView>
    </Page>
  );
}

function Text({ guide: { blocks } }: { guide: Guide }) {
  let examples = 0;
  const render = (block: Block, key: number): ReactNode =>
    block.is === 'code' ? (
      <Copyable key={key} value={block.text} label={t.code((examples += 1))} />
    ) : (
      <Rendered key={key} block={block} render={render} />
    );
  return <article className="guide">{blocks.map(render)}</article>;
}

interface RenderedProps {
  readonly block: Exclude<Block, { is: 'code' }>;
  readonly render: (block: Block, key: number) => ReactNode;
}

function Rendered({ block, render }: RenderedProps) {
  if (block.is === 'paragraph') return <p>{renderInlines(block.of)}</p>;
  if (block.is === 'quote') return <blockquote>{block.of.map(render)}</blockquote>;
  if (block.is === 'table') return <Table block={block} />;
  if (block.is === 'heading') {
    const Heading = block.depth === 2 ? 'h2' : 'h3';
    return <Heading id={block.anchor}>{renderInlines(block.of)}</Heading>;
  }
  const List = block.is === 'steps' ? 'ol' : 'ul';
  return (
    <List>
      {block.of.map((item, index) => (
        <li key={index}>{item.map(render)}</li>
      ))}
    </List>
  );
}

function Table({ block: { header, rows } }: { block: Extract<Block, { is: 'table' }> }) {
  return (
    // A wide table scrolls by itself, and by the keyboard.
    <div className="guide-table" role="group" tabIndex={0} aria-label={text.table}>
      <table>
        <thead>
          <tr>
            {header.map((cell, index) => (
              <th key={index}>{renderInlines(cell)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, index) => (
                <td key={index}>{renderInlines(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const renderInlines = (inlines: readonly Inline[]): ReactNode[] =>
  inlines.map((inline, key) => {
    if (typeof inline === 'string') return inline;
    const of = renderInlines(inline.of);
    if (inline.is === 'link') return <Target key={key} to={inline.to} of={of} />;
    const Tag = inline.is;
    return <Tag key={key}>{of}</Tag>;
  });

function Target({ to, of }: { to: string; of: ReactNode[] }) {
  const [path = '', hash] = to.split('#');
  if (path.startsWith('/') || path === '')
    return (
      <Link to={path === '' ? '.' : path} {...(hash !== undefined && { hash })}>
        {of}
      </Link>
    );
  return (
    <a href={to} target="_blank" rel="noreferrer">
      {of}
    </a>
  );
}
