-- The requests of wrk, by the arguments after `--`:
--
--   notifications FILE [COUNT PART]   the requests of a corpus, one after the other; with a count,
--                        only each one that many after the previous, from the one numbered PART
--   reads FILE PREFIX SUFFIX [COOKIE]   a random line of a file between the parts of a path
--   copies FILE PREFIX SUFFIX COUNT   the same, each line ending with the number of a copy
--   path PATH [NAME VALUE]   the same request repeatedly, with a header

local threads = {}

function setup(thread)
    table.insert(threads, thread)
end

local function notifications(path, count, part)
    local file = assert(io.open(path, "rb"))
    ended = 0
    local function length()
        local digits = file:read(8)
        if not digits then
            ended = ended + 1
            file:seek("set", 0)
            digits = file:read(8)
        end
        return tonumber(digits)
    end
    local function skip(number)
        for _ = 1, number do file:seek("cur", length()) end
    end
    skip(part)
    request = function()
        local text = file:read(length())
        skip(count - 1)
        return text
    end
end

local function reads(path, prefix, suffix, cookie)
    local requests = {}
    if cookie then wrk.headers["Cookie"] = cookie end
    for line in io.lines(path) do
        requests[#requests + 1] = wrk.format("GET", prefix .. line .. suffix)
    end
    math.randomseed(1)
    request = function()
        return requests[math.random(#requests)]
    end
end

local function copies(path, prefix, suffix, count)
    local ids = {}
    for line in io.lines(path) do
        ids[#ids + 1] = string.sub(line, 1, 28)
    end
    math.randomseed(1)
    request = function()
        local id = string.format("%s%08x", ids[math.random(#ids)], math.random(count))
        return wrk.format("GET", prefix .. id .. suffix)
    end
end

function init(args)
    if args[1] == "notifications" then
        notifications(args[2], tonumber(args[3] or 1), tonumber(args[4] or 0))
    elseif args[1] == "reads" then
        reads(args[2], args[3], args[4], args[5])
    elseif args[1] == "copies" then
        copies(args[2], args[3], args[4], tonumber(args[5]))
    else
        if args[3] then
            wrk.headers[args[3]] = args[4]
        end
        local only = wrk.format("GET", args[2])
        request = function() return only end
    end
end

function done(summary, latency)
    local errors = summary.errors
    local lost = errors.connect + errors.read + errors.write + errors.timeout
    local repeated = 0
    for _, thread in ipairs(threads) do
        repeated = repeated + (thread:get("ended") or 0)
    end
    io.write(string.format(
        "RESULT %d %d %d %d %d %d %d\n",
        summary.requests, summary.duration, errors.status, lost, repeated,
        latency:percentile(50), latency:percentile(99)))
end
