import { knowledge } from '#text/knowledge';
import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { getConnectorName } from '../../ui/connector-name.ts';
import { reveal } from '../../ui/reveal.ts';
import type { ToolAnswer } from './api.ts';
import { type SourceAddress, splitAtSources } from './source-addresses.ts';

const t = knowledge.ask;

/** What a tool has answered. Its texts are those of another server, so nothing in them but addresses of the console is a link. */
export function Answer({ answer: { content, isError, link } }: { answer: ToolAnswer }) {
  return (
    <div className="answer">
      <h3>{t.results}</h3>
      {isError && <p className="problem">{t.failed}</p>}
      {link && (
        <p>
          {link.reason} <a href={link.url}>{t.connect}</a>
        </p>
      )}
      {content.length === 0 && <p className="quiet-text">{t.empty}</p>}
      {content.map((block, index) => (
        <Block key={index} block={block} />
      ))}
    </div>
  );
}

function Block({ block }: { block: ToolAnswer['content'][number] }) {
  const { type, text } = block;
  if (type !== 'text' || typeof text !== 'string')
    return <p className="quiet-text">{t.other(typeof type === 'string' ? reveal(type) : '?')}</p>;
  return (
    <div className="quoted" tabIndex={0} role="group" aria-label={t.results}>
      {splitAtSources(text, location.origin).map((part, index) => (
        <Fragment key={index}>
          {part.source === undefined ? reveal(part.text) : <SourceLink {...part.source} />}
        </Fragment>
      ))}
    </div>
  );
}

const SourceLink = ({ of, run }: SourceAddress) => (
  <Link to={`/knowledge/${encodeURIComponent(of)}`} search={run === undefined ? {} : { run }}>
    {t.source(getConnectorName(of))}
  </Link>
);
