import { type Browser, describeWith, launchBrowser } from '@platform/testing';
import { renderTemplate } from '../../src/features/templates/render.js';
import {
  type InternalTemplateType,
  internalTemplateTypes,
} from '../../src/features/templates/template-types.js';
import { createView } from '../../src/features/templates/view.js';

/* Measures the mails as a real browser lays them out, on a phone and on a desk. */

const link =
  'https://knowledge.example.com/reset-password#token=eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIwMTkwYTBiMCJ9';
const data = {
  userName: 'Ada',
  companyName: 'Example',
  otp: '493817',
  link,
  validFor: '10 minutes',
  invitedBy: 'Grace',
  time: '22 November 2026, 21:00 UTC',
  device: 'Firefox on Linux',
  ipAddress: '192.0.2.1',
  changedBy: 'Grace',
  newServer: 'smtp.example.com:587',
  notice: 'tokenReused',
  name: 'ci',
  items: [{ name: 'ci', state: 'neverExpires' }],
};

function render(type: InternalTemplateType): string {
  const created = createView(type, data);
  if ('faults' in created) throw new Error(JSON.stringify(created.faults));
  return renderTemplate(type, created.view).html;
}

interface Style {
  readonly size: number;
  readonly weight: number;
  readonly background: string;
}

interface Measured {
  /** The left edges of the brand, the title, the first paragraph and the foot. */
  readonly edges: readonly number[];
  readonly buttons: readonly Style[];
  readonly links: readonly Style[];
  /** How far the middle of the code is from the middle of its field. */
  readonly codeOffset: number | null;
  readonly overflow: number;
}

/** Runs in the page. The positions are those of the text itself, not of the cell around it. */
const MEASURE = `(() => {
  const getText = (selector) => {
    const range = document.createRange();
    range.selectNodeContents(document.querySelector(selector + ' div'));
    return range.getBoundingClientRect();
  };
  const getStyles = (selector) =>
    [...document.querySelectorAll(selector)].map((element) => {
      const { fontSize, fontWeight, backgroundColor } = getComputedStyle(element);
      return { size: parseFloat(fontSize), weight: Number(fontWeight), background: backgroundColor };
    });
  const getCodeOffset = (code) => {
    const text = getText('.code');
    const field = code.getBoundingClientRect();
    // The text ends with the spacing of its last digit.
    const spacing = parseFloat(getComputedStyle(code.querySelector('div')).letterSpacing);
    return text.left + (text.width - spacing) / 2 - (field.left + field.width / 2);
  };
  const code = document.querySelector('.code');
  return {
    edges: ['.brand', '.title', '.copy', '.foot'].map((selector) => getText(selector).left),
    buttons: getStyles('.button a'),
    links: getStyles('.link a'),
    codeOffset: code && getCodeOffset(code),
    overflow: document.documentElement.scrollWidth - window.innerWidth,
  };
})()`;

describeWith('chromium', 'the layout of the mails', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  test.each([390, 1280])(
    'each mail has one left edge, no link as loud as its button, and its code in the middle at %d px',
    async (width) => {
      const page = await browser.newPage({ viewport: { width, height: 844 } });
      for (const type of internalTemplateTypes) {
        await page.setContent(render(type));
        const { edges, buttons, links, codeOffset, overflow } = await page.evaluate<Measured>(MEASURE);
        expect([type, Math.max(...edges) - Math.min(...edges) < 1, overflow <= 0]).toEqual([
          type,
          true,
          true,
        ]);
        expect([type, links.length]).toEqual([type, buttons.length]);
        for (const [index, one] of links.entries()) {
          expect([type, one.background]).toEqual([type, 'rgba(0, 0, 0, 0)']);
          expect(one.size).toBeLessThan(buttons[index]?.size ?? 0);
          expect(one.weight).toBeLessThan(buttons[index]?.weight ?? 0);
        }
        expect([type, codeOffset === null]).toEqual([type, type !== 'loginWithOTP']);
        expect(Math.abs(codeOffset ?? 0)).toBeLessThan(1);
      }
      await page.close();
    },
  );
});
