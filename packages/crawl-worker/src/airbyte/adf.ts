/*
 * Atlassian document format to Markdown. Its own renderer needs React and ProseMirror, and the small packages for it are not
 * kept, so the nodes that carry text are converted here; every other node is replaced by its content.
 */

interface Node {
  readonly type?: string;
  readonly text?: string;
  readonly attrs?: Readonly<Record<string, unknown>>;
  readonly content?: readonly Node[];
  readonly marks?: readonly { readonly type?: string; readonly attrs?: Readonly<Record<string, unknown>> }[];
}

/** @param value - a document, or the JSON of one. Other text is returned as it is. */
export function adfToMarkdown(value: unknown): string {
  const document = (typeof value === 'string' ? parseDocument(value) : value) as Node | null | undefined;
  if (typeof document !== 'object' || document === null) return typeof value === 'string' ? value : '';
  return renderBlock(document)
    .replaceAll(/[ \t]+\n/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

function parseDocument(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const renderAll = (nodes: readonly Node[] | undefined): string => (nodes ?? []).map(renderBlock).join('');
const toText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

function renderText({ text = '', marks = [] }: Node): string {
  const href = toText(marks.find(({ type }) => type === 'link')?.attrs?.['href']);
  return href === '' || href === text ? text : `[${text}](${href})`;
}

function renderItem(node: Node, mark: string): string {
  const lines = renderAll(node.content).trim().split('\n');
  return `${mark} ${lines.filter((line, index) => index === 0 || line !== '').join(`\n${' '.repeat(mark.length + 1)}`)}\n`;
}

function renderBlock(node: Node): string {
  const { type, attrs = {}, content = [] } = node;
  switch (type ?? '') {
    case 'text':
      return renderText(node);
    case 'hardBreak':
      return '\n';
    case 'rule':
      return '\n---\n\n';
    case 'heading':
      return `\n${'#'.repeat(Math.min(6, Math.max(1, Number(attrs['level']) || 1)))} ${renderAll(content)}\n\n`;
    case 'paragraph':
    case 'caption':
      return `${renderAll(content)}\n\n`;
    case 'codeBlock':
      return `\`\`\`${toText(attrs['language'])}\n${renderAll(content)}\n\`\`\`\n\n`;
    case 'bulletList':
    case 'decisionList':
      return `${content.map((item) => renderItem(item, '-')).join('')}\n`;
    case 'taskList':
      return `${content.map((item) => renderItem(item, item.attrs?.['state'] === 'DONE' ? '- [x]' : '- [ ]')).join('')}\n`;
    case 'orderedList': {
      const first = Number(attrs['order'] ?? 1) || 1;
      return `${content.map((item, index) => renderItem(item, `${first + index}.`)).join('')}\n`;
    }
    case 'tableRow':
      return `${content.map((cell) => renderAll(cell.content).trim().replaceAll('\n', ' ')).join(' | ')}\n`;
    case 'table':
      return `${renderAll(content)}\n`;
    case 'mention':
    case 'status':
      return toText(attrs['text']);
    case 'emoji':
      return toText(attrs['text']) || toText(attrs['shortName']);
    case 'date': {
      const date = new Date(Number(attrs['timestamp']));
      return Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 10);
    }
    case 'inlineCard':
    case 'blockCard':
    case 'embedCard':
      return toText(attrs['url']);
    case 'expand':
    case 'nestedExpand':
      return `${toText(attrs['title'])}\n\n${renderAll(content)}`;
    default:
      return renderAll(content);
  }
}
