import { isReached, type Ratio } from './suite.js';

const ROW = 34;
const LEFT = 210;
const WIDTH = 640;
const SCALE = WIDTH - LEFT - 80;

const goalOf = ({ goal }: Ratio): number => ('min' in goal ? goal.min : goal.max);

function bar(ratio: Ratio, index: number): string {
  // Each ratio on its own scale: the goal stands at two thirds.
  const unit = (SCALE * 2) / 3 / goalOf(ratio);
  const y = 40 + index * ROW;
  const width = Math.max(1, Math.min(SCALE, ratio.value * unit)).toFixed(1);
  const goalX = (LEFT + goalOf(ratio) * unit).toFixed(1);
  const comparison = 'min' in ratio.goal ? 'at least' : 'at most';
  return `
  <text x="${LEFT - 10}" y="${y + 15}" text-anchor="end">${ratio.name}</text>
  <rect x="${LEFT}" y="${y}" width="${width}" height="20" rx="2" fill="${isReached(ratio) ? '#2f7d5b' : '#b3412f'}"/>
  <line x1="${goalX}" y1="${y - 4}" x2="${goalX}" y2="${y + 24}" stroke="#555" stroke-dasharray="3 2"/>
  <text x="${WIDTH - 72}" y="${y + 15}">${ratio.value.toPrecision(3)}<title>${comparison} ${goalOf(ratio)}</title></text>`;
}

/** Bars against their goals (dashed), as SVG without anything outside of it. */
export const plotRatios = (suite: string, ratios: readonly Ratio[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${60 + ratios.length * ROW}" font-family="sans-serif" font-size="13">
  <rect width="100%" height="100%" fill="#fff"/>
  <text x="16" y="22" font-weight="bold">${suite}: ratios of one run, goals dashed</text>${ratios.map(bar).join('')}
</svg>
`;
