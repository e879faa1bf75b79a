import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { parseRange } from './ranges.js';

/** The words of an address, and the bits of each that a range fixes. */
interface CompiledRange {
  readonly words: readonly number[];
  readonly masks: readonly number[];
}

/** An allow list in the form in which addresses are compared with it. */
export type CompiledList = readonly CompiledRange[];

const WORD_BITS = 32;
/** Parsing 20 ranges or an address costs more than comparing them. Most clients keep their address. */
const lists = new LRUCache<string, CompiledList>({ max: 2_000 });
const addresses = new LRUCache<string, readonly number[]>({ max: 2_000 });

function toWords(address: ipaddr.IPv4 | ipaddr.IPv6): number[] {
  const bytes = Buffer.from(address.toByteArray());
  return Array.from({ length: bytes.length / 4 }, (_value, index) => bytes.readInt32BE(index * 4));
}

function compileRange(range: string): CompiledRange[] {
  const parsed = parseRange(range);
  if (!parsed) return [];
  const [address, bits] = parsed;
  const words = toWords(address);
  const masks = words.map((_word, index) => {
    const fixed = Math.min(Math.max(bits - index * WORD_BITS, 0), WORD_BITS);
    return fixed === 0 ? 0 : -1 << (WORD_BITS - fixed);
  });
  return [{ words, masks }];
}

/** @param list - the stored ranges, separated by spaces. */
export function compileList(list: string): CompiledList {
  let compiled = lists.get(list);
  if (!compiled) lists.set(list, (compiled = list.split(' ').flatMap(compileRange)));
  return compiled;
}

function matches({ words, masks }: CompiledRange, address: readonly number[]): boolean {
  if (words.length !== address.length) return false;
  for (let index = 0; index < words.length; index += 1)
    if ((((words[index] ?? 0) ^ (address[index] ?? 0)) & (masks[index] ?? 0)) !== 0) return false;
  return true;
}

/** Returns whether one of the ranges contains the address. */
export function contains(list: CompiledList, address: string): boolean {
  let words = addresses.get(address);
  if (!words) addresses.set(address, (words = toWords(ipaddr.parse(address))));
  for (const range of list) if (matches(range, words)) return true;
  return false;
}
