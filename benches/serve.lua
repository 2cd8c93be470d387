-- Random positions of eight layers for wrk, each asked for with all its moves:
--   wrk --latency -t1 -c200 -d60s -s benches/serve.lua http://127.0.0.1:8080
-- With BATCH=1000 in the environment, so many positions in each request.

local batch = tonumber(os.getenv("BATCH") or "0")
local threads, failures = 0, 0

function setup(thread)
  thread:set("seed", threads)
  threads = threads + 1
end

function init()
  math.randomseed(1 + seed)
end

-- 36 cells, each filled or empty with equal chances.
local function position()
  return string.format("0x%03x%03x%03x", math.random(0, 4095), math.random(0, 4095), math.random(0, 4095))
end

function request()
  if batch == 0 then
    return wrk.format("GET", "/v1/position?board=triangle:8&p=" .. position())
  end
  local lines = {}
  for line = 1, batch do lines[line] = position() end
  return wrk.format("POST", "/v1/positions?board=triangle:8", nil, table.concat(lines, "\n"))
end
