import { createTextBuilder, type FileText, UnreadableFile } from '../file-text.js';
import { readRelationships, readTitle, readXml } from './xml.js';
import { readEntries } from './zip.js';

/** Returns the paragraphs of a slide, of which its title is the first. */
function readSlide(xml: string): { readonly title: string; readonly paragraphs: readonly string[] } {
  const paragraphs: string[] = [];
  let title = '';
  let paragraph = '';
  let isTitle = false;
  let isText = false;
  readXml(xml, {
    open(name, { type }) {
      if (name === 'p:sp') isTitle = false;
      if (name === 'p:ph') isTitle = type === 'title' || type === 'ctrTitle';
      if (name === 'a:br') paragraph += '\n';
      isText = name === 'a:t';
    },
    close(name) {
      isText = false;
      if (name !== 'a:p') return;
      const text = paragraph.trim();
      paragraph = '';
      if (isTitle && title === '') title = text.replaceAll(/\s+/g, ' ');
      else if (text !== '') paragraphs.push(text);
    },
    text(text) {
      if (isText) paragraph += text;
    },
  });
  return { title, paragraphs };
}

/** Reads a PPTX file: each slide with its title as a heading, in the order of the presentation. */
export function readSlides(bytes: Uint8Array): FileText {
  const entries = readEntries(bytes, (name) =>
    /^ppt\/(?:presentation\.xml|_rels\/presentation\.xml\.rels|slides\/[^/]+\.xml)$|^docProps\/core\.xml$/.test(
      name,
    ),
  );
  const presentation = entries.get('ppt/presentation.xml');
  if (presentation === undefined) throw new UnreadableFile('broken', 'It has no list of slides');
  const targets = readRelationships(entries.get('ppt/_rels/presentation.xml.rels'), 'ppt');
  const slides: string[] = [];
  readXml(presentation, {
    open(name, attributes) {
      if (name === 'p:sldId') slides.push(targets.get(attributes['r:id'] ?? '') ?? '');
    },
  });
  const builder = createTextBuilder();
  let first: string | undefined;
  slides.forEach((path, index) => {
    const { title, paragraphs } = readSlide(entries.get(path) ?? '');
    first ??= title || undefined;
    builder.anchor(`slide=${index + 1}`);
    builder.add(`## ${title || `Slide ${index + 1}`}\n\n`);
    for (const paragraph of paragraphs) builder.add(`${paragraph}\n\n`);
  });
  return builder.build(readTitle(entries.get('docProps/core.xml')) ?? first);
}
