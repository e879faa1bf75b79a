import { Parser } from 'htmlparser2';

export type Attributes = Readonly<Record<string, string>>;

/** Reads XML as a stream of elements. Entities of a document type are not expanded, and nothing is loaded. */
export function readXml(
  xml: string,
  on: {
    readonly open?: (name: string, attributes: Attributes) => void;
    readonly close?: (name: string) => void;
    readonly text?: (text: string) => void;
  },
): void {
  const parser = new Parser(
    {
      onopentag: (name, attributes) => on.open?.(name, attributes),
      onclosetag: (name) => on.close?.(name),
      ontext: (text) => on.text?.(text),
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.write(xml);
  parser.end();
}

/** Returns the title in the core properties of an Office file. */
export function readTitle(core: string | undefined): string | undefined {
  let title = '';
  let isTitle = false;
  readXml(core ?? '', {
    open: (name) => (isTitle = name === 'dc:title'),
    close: () => (isTitle = false),
    text: (text) => (title += isTitle ? text : ''),
  });
  return title.trim() || undefined;
}

/** Returns the parts that a part of an Office file refers to, by the id of the reference. @param base - the folder of the part. */
export function readRelationships(xml: string | undefined, base: string): ReadonlyMap<string, string> {
  const targets = new Map<string, string>();
  readXml(xml ?? '', {
    open(name, { Id: id, Target: target }) {
      if (name !== 'Relationship' || id === undefined || target === undefined) return;
      targets.set(id, target.startsWith('/') ? target.slice(1) : `${base}/${target}`);
    },
  });
  return targets;
}
