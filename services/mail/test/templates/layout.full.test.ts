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

  async function layOut(type: InternalTemplateType, width: number) {
    const page = await browser.newPage({ viewport: { width, height: 844 } });
    await page.setContent(render(type));
    const measured = await page.evaluate<Measured>(MEASURE);
    await page.close();
    return measured;
  }

  const cases = [390, 1280].flatMap((width) => internalTemplateTypes.map((type) => [type, width] as const));
  test.each(cases)('%s has one left edge and no link as loud as its button at %d px', async (type, width) => {
    const { edges, buttons, links, overflow } = await layOut(type, width);
    expect(Math.max(...edges) - Math.min(...edges)).toBeLessThan(1);
    expect(overflow).toBeLessThanOrEqual(0);
    expect(links).toHaveLength(buttons.length);
    for (const [index, one] of links.entries()) {
      expect(one.background).toBe('rgba(0, 0, 0, 0)');
      expect(one.size).toBeLessThan(buttons[index]?.size ?? 0);
      expect(one.weight).toBeLessThan(buttons[index]?.weight ?? 0);
    }
  });

  test.each([390, 1280])('the code stands in the middle of its field at %d px', async (width) => {
    const { codeOffset } = await layOut('loginWithOTP', width);
    expect(Math.abs(codeOffset ?? Number.NaN)).toBeLessThan(1);
  });
});
