/**
 * Lua scripts, which Redis executes atomically. They use the server's time, so that nodes with different clocks count
 * alike.
 */

/**
 * A sliding window as a sorted set: score is when (µs), member is `<all that was ever taken, 16 digits>:<when begun>`.
 * The amount in the window is the newest total minus that of the newest entry outside of it, so no summing is needed.
 * Semantics, merging by grain and edges are those of `shared/local.ts`.
 *
 * KEYS: the counter. ARGV: cost, limit, window µs, grain µs. Answers allowed (0 or 1), remaining, reset µs, retry µs.
 */
export const take = `
local key = KEYS[1]
local cost, limit, window, grain = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local function at(rank)
  local found = redis.call('ZRANGE', key, rank, rank, 'WITHSCORES')
  if found[1] == nil then return nil end
  return { name = found[1], total = tonumber(string.sub(found[1], 1, 16)), begun = tonumber(string.sub(found[1], 18)), score = tonumber(found[2]) }
end

local newest = at(-1)
if newest ~= nil and newest.score > now then
  -- The clock was set back. Ages are what counts: the newest is of this moment.
  local step = newest.score - now
  local all = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  for i = 1, #all, 2 do redis.call('ZADD', key, string.format('%.0f', tonumber(all[i + 1]) - step), all[i]) end
  newest.score = now
end

local total = newest ~= nil and newest.total or 0
local base = 0
local outside = redis.call('ZREVRANGEBYSCORE', key, string.format('%.0f', now - window), '-inf', 'WITHSCORES', 'LIMIT', 0, 1)
if outside[1] ~= nil then
  base = tonumber(string.sub(outside[1], 1, 16))
  if cost > 0 then redis.call('ZREMRANGEBYSCORE', key, '-inf', '(' .. outside[2]) end
end

local allowed = cost == 0 or total - base + cost <= limit
if allowed and cost > 0 then
  local begun = now
  if grain > 0 and total > base and newest.begun <= now and now - newest.begun <= grain then
    begun = newest.begun
    redis.call('ZREM', key, newest.name)
  end
  total = total + cost
  redis.call('ZADD', key, string.format('%.0f', now), string.format('%016.0f:%.0f', total, begun))
  redis.call('PEXPIRE', key, math.ceil(window / 1000) + 1000)
end

local function untilFits(wanted)
  if wanted > limit then return window end
  local needed = total + wanted - limit
  if needed <= base then return 0 end
  local low, high = 0, redis.call('ZCARD', key) - 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if at(middle).total >= needed then high = middle else low = middle + 1 end
  end
  return math.max(0, at(low).score + window - now)
end

return { allowed and 1 or 0, math.max(0, limit - (total - base)), untilFits(1), allowed and 0 or untilFits(cost) }
`

/**
 * KEYS: the session. ARGV: the version that was read (0: none), the new value, ms to keep it. Answers 1 if it was
 * stored.
 */
export const replace = `
if tonumber(redis.call('HGET', KEYS[1], 'version') or 0) ~= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[1] + 1, 'session', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`

/** KEYS: the revision. ARGV: the channel, the notice. Numbers notices, so that nodes detect a missed one. */
export const publish = `
local revision = redis.call('INCR', KEYS[1])
redis.call('PUBLISH', ARGV[1], revision .. ' ' .. ARGV[2])
return revision
`

/** KEYS: the answers to one notice. ARGV: the answering node, ms to keep them. */
export const answer = `
redis.call('SADD', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`

/** KEYS: the nodes, the revision. ARGV: this node, ms until it counts as gone. Answers how many nodes there are, and the revision. */
export const beat = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return { redis.call('ZCARD', KEYS[1]), tonumber(redis.call('GET', KEYS[2]) or 0) }
`
